"""Numbers as Brazilians write them: 1.234,5."""


def brazilian(value: float, decimals: int | None = None) -> str:
    """`1234.5` as `1.234,50` (two decimals), integers without decimals, unless `decimals` says otherwise."""
    places = decimals if decimals is not None else (0 if isinstance(value, int) else 2)
    return f"{value:,.{places}f}".translate(str.maketrans(",.", ".,"))
