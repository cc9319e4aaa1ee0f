def closing(profile, minutes): return f'closing {profile} {minutes}'
