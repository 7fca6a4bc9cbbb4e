-- What a command printed of which nobody told the end is found at each start.

CREATE INDEX run_views_streaming ON run_views (id) WHERE state = 'streaming' AND phase = '';
