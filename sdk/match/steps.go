package match

// maxSteps is what one question may cost. A step is sixteen bytes looked at by one
// part of a glob, or by one instruction of a regular expression each; a move in an
// XML document; or a sixteenth of a value that a JSONPath can come to. The slowest
// take about a tenth of a microsecond.
const maxSteps = 1 << 25

// maxDocument bounds a text that is read as JSON or XML, in bytes.
const maxDocument = 4 << 20

// meter counts the steps of one question.
type meter struct{ left int }

func newMeter() *meter { return &meter{left: maxSteps} }

// spend takes steps, of which there may be more than are left, and tells whether
// the question may go on.
func (m *meter) spend(steps int) bool {
	if steps < 0 || steps > m.left {
		m.left = -1
		return false
	}
	m.left -= steps
	return true
}

// tooMuch is what a meter throws through a library that cannot be told to stop.
type tooMuch struct{}

// take is spend for what is called by such a library.
func (m *meter) take(steps int) {
	if !m.spend(steps) {
		panic(tooMuch{})
	}
}

func (m *meter) over() bool { return m.left < 0 }
func (m *meter) spent() int { return maxSteps - m.left }
