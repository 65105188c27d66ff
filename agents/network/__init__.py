"""Networks as their players evaluate them: compiled code over NumPy arrays, without torch."""
