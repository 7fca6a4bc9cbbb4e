package daemon

import (
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/config"
)

// TestDoctorMissesTheShim: without bothy-shim nothing is confined, whatever the kernel can.
func TestDoctorMissesTheShim(t *testing.T) {
	f := confineFinding(&config.Config{}, Paths{Libexec: t.TempDir()})
	if f.Level != "fail" || !strings.Contains(f.Detail, "bothy-shim") || !strings.Contains(f.Hint, "install Bothy again") {
		t.Errorf("it says %+v", f)
	}
}
