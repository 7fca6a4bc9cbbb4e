package engine

// Pieces takes secrets out of a text that comes in pieces: what Write returns is
// clear, End returns the rest. A secret that is cut in two is found.
type Pieces interface {
	Write(piece string) string
	End() string
}

func (e *Engine) redacting() Pieces {
	if e.cfg.Redacting == nil {
		return unredacted{}
	}
	return e.cfg.Redacting()
}

// unredacted passes a text on as it is.
type unredacted struct{}

func (unredacted) Write(piece string) string { return piece }
func (unredacted) End() string               { return "" }
