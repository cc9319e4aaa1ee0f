"What tests of trainings on a device share."

import pytest
from stand_in import stand_in


@pytest.fixture
def device():
    with stand_in() as name:
        yield name
