def test_like(): return 1
