"""`manage.py import_setup FILE`: clusters, cost centres, people, teams, namespaces and roles from a YAML file."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from teams.actions import apply_setup
from teams.setup_file import read_setup
from teams.setup_values import BadSetup


class Command(BaseCommand):
    help = "Apply a set-up file (docs/setup-file.md). Applying it again changes nothing."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path)

    def handle(self, *args: Any, file: Path, **options: Any) -> None:
        try:
            setup = read_setup(file.read_text(encoding="utf-8"))
            changes = apply_setup(setup=setup, by="setup-file", now=timezone.now())
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{file} cannot be read: {error}") from error
        except BadSetup as error:
            raise CommandError(f"{file} was not applied:\n" + "\n".join(error.problems)) from error
        for line in changes:
            self.stdout.write(line)
        self.stdout.write(f"{len(changes)} changes")
