package sdk

import "time"

// Used is what one completion used, as the journal tells it of every run, also of one that
// was deleted since.
type Used struct {
	Time    time.Time
	Project int64
	Run     int64
	Model   string
	Plugin  string // that asked for it while it served a call; empty for a turn of the run
	Usage   *Usage // nil when the provider said nothing
}
