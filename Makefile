# Two commands do everything: `make reproduce` and `make test`. Both first make .venv from the lock.

# any Python from 3.10 on; used once, to make .venv
PYTHON ?= python3
# which workflow/profiles/*.yaml to run, and the one experiment to remake (empty: whatever is out of date)
PROFILE ?= smoke
ONLY ?=
# how much of `make faults` (0.1: a tenth), and the seed of `make faults` and `make mutants` (empty: another each time)
SHARE ?= 1
SEED ?=
# address of the package index to take torch from (empty: wherever pip finds it)
TORCH_INDEX ?=

SHELL := /bin/sh
# threads that spin while they wait slow each other down tenfold when the machine has other work
export OMP_WAIT_POLICY := PASSIVE
# torch, compiled anew at each start, takes longer than most tests, each of which may start several processes
unexport PYTHONDONTWRITEBYTECODE
VENV := . .venv/bin/activate &&
# What notebooks generate or nbdev may rewrite, with a checksum each
SUMS = find cube_nb nbs README.md \( -name '*.py' -o -name '*.ipynb' -o -name README.md \) ! -path '*/.*' | sort | xargs cksum

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help reproduce stale verify prepare test test-all slow chapters faults mutants in-step lint docs docs-check show-chapters show-results solve-page lab readme lock uninstall clean FORCE

help:  ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-13s %s\n", $$1, $$2 }' Makefile
	@echo 'variables: PROFILE=$(PROFILE) ONLY=NAME PYTHON=$(PYTHON) TORCH_INDEX=ADDRESS'

reproduce: .venv/.installed  ## run the pipeline: tables in data/PROFILE, figures in figures/PROFILE (ONLY=NAME remakes one experiment)
	@$(VENV) cube_nb reproduce --profile '$(PROFILE)' $(if $(ONLY),--only '$(ONLY)')

stale: .venv/.installed  ## say which results of PROFILE no longer follow from the code, and why
	@$(VENV) cube_nb stale --profile '$(PROFILE)'

verify: .venv/.installed  ## remake a random tenth of the committed cpu results in a clone, and compare (SEED=N: which; ALL=1: the whole)
	@$(VENV) cube_nb verify $(if $(SEED),--seed '$(SEED)') $(if $(ALL),--all)

# In this order: what is exported is formatted, what is cleaned is exported
prepare: .venv/.installed  ## before a commit: format the notebooks, export the library, clean the notebooks, make the README, lint and types
	@$(VENV) ruff format -q nbs tests benchmarks data docs && nbdev_export && nbdev_clean
	@$(MAKE) --no-print-directory README.md lint

# One thread each, for two of them run side by side. Lint and types take one core for a part of the time of the chapters.
ONE = OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1
PYTEST = $(VENV) $(ONE) python -m pytest -q --numprocesses $(1) --dist worksteal --durations 20
SITE_TESTS = tests/book/test_site.py tests/play/test_browser_solver.py
test: in-step  ## what a contributor runs: library, notebooks and README agree, format, lint, types, every chapter, the fast tests
	@$(MAKE) --no-print-directory -j 2 lint chapters
	@$(call PYTEST,2) -m 'not slow' tests

# The site is built, which takes one core, while the slow tests run; then a sample of its pages is opened where there is a
# browser. Three workers beside it: many of these tests wait for a process of their own.
test-all: test  ## make test, then the slow tests (processes, kills, full disks, browsers) and the site
	@$(MAKE) --no-print-directory -j 2 docs slow
	@SITE_SAMPLE=1 && export SITE_SAMPLE && $(call PYTEST,2) $(SITE_TESTS)

slow: .venv/.installed
	@$(call PYTEST,3) -m slow $(addprefix --ignore=,$(SITE_TESTS)) tests

# Experiments are run by the pipeline, tutorials by tests/book/test_tutorials.py in their short form
chapters: .venv/.installed
	@$(VENV) $(ONE) nbdev_test --n_workers 2 --timing --do_print --skip_folder_re '^([_.]|experiments$$|tutorials$$)'

in-step: .venv/.installed
	@$(SUMS) > .venv/before
	@$(VENV) nbdev_export && nbdev_clean
	@$(MAKE) --no-print-directory README.md
	@$(SUMS) > .venv/after
	@diff .venv/before .venv/after | sed -n 's/^[<>] [0-9]* [0-9]* //p' | sort -u > .venv/differ
	@test ! -s .venv/differ || { cat .venv/differ; echo 'ERROR: the files above were not in step with the notebooks. They are now: look at the changes and commit them.' >&2; exit 1; }

# The short forms are in tests/doors/test_bad_input.py and tests/ground/test_kept.py
faults: .venv/.installed  ## 100,000 bad inputs, 10,000 flipped bits, kills and full disks: what comes of them (20 minutes; SHARE=0.1 of it)
	@$(VENV) $(ONE) python benchmarks/faults.py --share '$(SHARE)' $(if $(SEED),--seed '$(SEED)')

mutants: .venv/.installed  ## plant 150 small bugs, one at a time, and list those that neither chapters nor tests notice (hours; goes on with SEED=N)
	@$(VENV) python benchmarks/mutants.py $(if $(SEED),--seed '$(SEED)')

# Formatted are the notebooks, which are the source, and the scripts; the library is checked as it is exported from them.
# The modules of TYPED are those whose functions users call.
TYPED = cube_nb cube_nb.config cube_nb.cube.puzzle cube_nb.cube.notation cube_nb.solving cube_nb.training cube_nb.cli \
  cube_nb.play.terminal cube_nb.play.widget cube_nb.play.page cube_nb.measure.evaluate cube_nb.measure.figures
lint: .venv/.installed  ## format, lint and types
	@$(VENV) ruff format --check nbs tests benchmarks data docs && ruff check cube_nb tests benchmarks data docs
	@$(VENV) mypy --follow-imports=silent $(addprefix -m ,$(TYPED))

readme: .venv/.installed  ## run nbs/index.ipynb and make README.md from it
	@$(MAKE) --no-print-directory show-chapters ONLY=nbs/index.ipynb
	@$(MAKE) --no-print-directory README.md

# The site runs nothing: a page shows the outputs that are kept in its notebook. Progress bars are left out of them.
show-chapters: .venv/.installed  ## run the chapters and keep what they show (ONLY='nbs/depth/02_bfs.ipynb ...': these alone)
	@$(VENV) TQDM_DISABLE=1 jupyter nbconvert --log-level=ERROR --to notebook --execute --inplace \
	  $(or $(ONLY),$(wildcard nbs/*/[0-9][0-9]_*.ipynb)) && nbdev_clean

# A package index shows the README by itself, so its links name the place as a whole
PAGES = https://github.com/cube-nb/cube_nb/blob/main
PICTURES = https://raw.githubusercontent.com/cube-nb/cube_nb/main
SITE = https://cube-nb.github.io/cube_nb

# Always made anew: cheap, and the notebook may be older than a README.md edited by hand
README.md: .venv/.installed FORCE
	@$(VENV) jupyter nbconvert --log-level=ERROR --to markdown --stdout nbs/index.ipynb \
	  --RegexRemovePreprocessor.enabled=True --RegexRemovePreprocessor.patterns='["^#\\| hide"]' \
	  --TagRemovePreprocessor.enabled=True --TagRemovePreprocessor.remove_input_tags='["hide-input"]' > .venv/index.md
	@sed -E -e '/^#\| /d' -e 's#\]\(([A-Za-z0-9_./-]+\.(svg|png))\)#]($(PICTURES)/nbs/\1)#g' \
	  -e 's#\]\((experiments/[a-z_]+)\.ipynb\)#]($(SITE)/\1.html)#g' \
  -e 's#\]\(([A-Za-z0-9_./-]+\.ipynb)\)#]($(PAGES)/nbs/\1)#g' .venv/index.md \
	  | awk '/^```/ { code = !code; if (code && $$0 == "```") $$0 = "```python" } 1' | cat -s > README.md
FORCE:

# docs/book.py turns the notebooks into the source of the site, Sphinx makes the pages. Neither needs a network. The player
# on the home page does, the first time: npm fetches the runtime. Without it the site is built all the same, and says so.
docs: .venv/.installed  ## build the site in _docs: chapters with their code, experiments with their committed runs
	@if ! command -v npm > /dev/null; then echo 'NOTE: no player on the home page: it needs Node.js 20 or newer, with npm'; \
	  else $(MAKE) --no-print-directory solve-page || echo 'NOTE: the player could not be made (see above): is there a network?'; fi
	@$(VENV) python docs/book.py _book
	@rm -rf _docs
	@$(VENV) python -m sphinx -q -W --keep-going -c docs -d .venv/doctrees _book _docs
	@rm -rf _book jupyter_execute; test ! -f _solve/index.html || cp -R _solve _docs/solve
	@echo 'the site: _docs/index.html'

docs-check: docs  ## build the site and open every page in a browser: errors, links, formulas, results
	@$(VENV) python -m pytest -q tests/book/test_site.py

# Only tables and figures of committed runs are written; whether they are out of date is for `make stale` to say
show-results: .venv/.installed  ## show the committed runs in the notebooks of the experiments (ONLY=NAME: in one)
	@$(VENV) python docs/results.py $(ONLY) && nbdev_clean

# The search that runs in the browser. None of it is committed: the runtime alone has 14 MB, and npm's lock says which it is.
solve-page: _solve/index.html  ## build the page that solves a cube without a server, in _solve (needs Node.js and npm)
_solve/index.html: $(wildcard web/*.* web/licences/*) cube_nb/play/static/play.js cube_nb/nets/shipped/cube3-walks.safetensors .venv/.installed
	@command -v npm > /dev/null || { echo 'ERROR: make solve-page needs Node.js 20 or newer, with npm' >&2; exit 1; }
	@$(VENV) python web/export.py _solve
	@cd web && npm ci --silent --ignore-scripts && node build.mjs ../_solve

lab: .venv/.installed  ## open JupyterLab on the notebooks
	@$(VENV) jupyter lab nbs

# The lock leaves out what only some builds of torch need (CUDA, Triton): pip adds what the torch it chooses asks for.
# Pins that still fit are kept; delete requirements-dev.txt first to move them all.
lock: .venv/bin/python  ## make requirements-dev.txt from requirements-dev.in with uv
	@$(VENV) pip install -q uv && UV_CUSTOM_COMPILE_COMMAND='make lock' uv pip compile -q --universal --python-version 3.10 requirements-dev.in -o requirements-dev.txt
	@awk '/^[a-z]/ { skip = /^(nvidia|cuda|triton)/ } !skip' requirements-dev.txt > .venv/lock && mv .venv/lock requirements-dev.txt

# For another Python or another build of torch
uninstall:  ## remove the environment, .venv; the next command makes it anew (trainings and results stay)
	rm -rf .venv

clean: uninstall  ## remove everything that can be made again, also runs/ with its checkpoints (committed data and figures stay)
	rm -rf _book _docs _solve jupyter_execute web/node_modules runs .snakemake .pytest_cache .hypothesis build *.egg-info data/scratch figures/scratch
	find cube_nb nbs tests -name __pycache__ -o -name .ipynb_checkpoints | xargs rm -rf

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' 2>/dev/null || { echo 'ERROR: cube_nb needs Python 3.10 or newer, and "$(PYTHON)" is not: make PYTHON=/path/to/python' >&2; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; echo 'ERROR: "$(PYTHON) -m venv" failed (on Debian and Ubuntu: install python3-venv)' >&2; exit 1; }

.venv/.installed: requirements-dev.txt settings.ini setup.py | .venv/bin/python
	@echo 'installing the locked environment into .venv: a few minutes, once'
	@$(if $(TORCH_INDEX),$(VENV) pip install --index-url '$(TORCH_INDEX)' "$$(grep '^torch==' requirements-dev.txt)")
	@$(VENV) pip install --no-compile --disable-pip-version-check -r requirements-dev.txt
	@$(VENV) pip install --disable-pip-version-check -q --no-deps --no-build-isolation -e .
	@touch $@
