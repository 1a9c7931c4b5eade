def google(a, b):
    """Add two things.

    Longer text.

    Args:
        a: first
            goes on
        b (int): second

    Returns:
        int: the sum

    Raises:
        ValueError: never
    """
    return a + b


def numpy(a):
    """
    Summary.

    Parameters
    ----------
    a : int
        The first.

    Returns
    -------
    int

    See Also
    --------
    google
    """
    return a


def rest(a):
    """Summary.

    :param a: first
    :type a: int
    :returns: nothing
    :raises ValueError: if so

    .. note:: mind this
    """


def none():
    "Note that: this is no section"
