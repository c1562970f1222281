from hypothesis import settings

# A busy machine is no reason to fail; no test here is about time.
settings.register_profile("quorate", deadline=None)
settings.load_profile("quorate")
