#!/usr/bin/env python
import os
import sys


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "portal.settings")
    from django.core.management import execute_from_command_line

    from portal.outages import told

    try:
        execute_from_command_line(sys.argv)
    except Exception as error:
        sentence = told(error)
        if sentence is None or "--traceback" in sys.argv:
            raise
        sys.exit(sentence)


if __name__ == "__main__":
    main()
