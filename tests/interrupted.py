"A process that ends in the middle of a training step, for tests of what is kept and taken up."


class Interrupted(Exception):
    "Stands for the end of a process."


def stop_at(learner, step):
    "Let a learner's process end in the middle of a step."
    after_step = learner.after_step

    def stop(done):
        if learner.step == step:
            raise Interrupted
        return after_step(done)

    learner.after_step = stop
