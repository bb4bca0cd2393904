"""Who may override what.

Each rule is a module; :class:`nova_image_override.rules.judge.Rules` asks them
in order and collects every refusal.
"""
