"""Pure decisions that return plans: what may stay and what must go."""
