"""The worker's task that tells people, over and over until standard input ends. For `bench.evictions`."""

import select
import sys

import django

EVERY_SECONDS = 5  # thrice as often as scheduled


def main() -> None:
    django.setup()
    from jobs.tasks import tell_people

    while not select.select([sys.stdin], [], [], EVERY_SECONDS)[0]:
        tell_people()
    tell_people()


if __name__ == "__main__":
    main()
