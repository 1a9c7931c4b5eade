def check_one(): pass
def test_two(): pass
class Check:
    def check_three(self): pass
