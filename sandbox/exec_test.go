package sandbox_test

import (
	"testing"
)

func TestCommandRunsInTheContainer(t *testing.T) {
	f := newFixture(t, shared(t))
	out := f.bash("id -u; pwd; touch /x; echo hi > /workspace/a; echo err >&2; exit 3")
	t.Logf("%+v", out)
}
