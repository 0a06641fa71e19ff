"""Chaos for some seconds; `tests/e2e/chaos.py` has it last for ten minutes."""
import chaos


def test_books_balance_and_nothing_is_left(luabench):
    """The seed is in the message of what fails."""
    seed = chaos.new_seed()
    try:
        chaos.run(luabench.path, 4, seed, most_growth=60)  # it is not warm by then
    except AssertionError as error:
        raise AssertionError(f"seed {seed}: {error}") from error
