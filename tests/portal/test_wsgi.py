import os
import subprocess
import sys

import pytest


@pytest.mark.services
def test_all_pages_are_loaded_before_the_first_reader_comes() -> None:
    program = "import sys, portal.wsgi; sys.exit('portal.views.team' not in sys.modules)"
    environment = {**os.environ, "DJANGO_SETTINGS_MODULE": "tests.settings"}
    assert subprocess.run([sys.executable, "-c", program], env=environment, check=False).returncode == 0
