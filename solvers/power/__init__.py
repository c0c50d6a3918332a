"""M-power RLS: a power of the norm as penalty, all its stationary points included."""
