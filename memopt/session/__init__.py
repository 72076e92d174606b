"""What drives successive turns: pressure, fidelity, refresh and worth, each a small state machine."""
