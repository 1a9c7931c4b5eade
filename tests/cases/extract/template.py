def {{ name }}():
    pass
