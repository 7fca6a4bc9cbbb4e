package logfile

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/bothyd/bothy/daemon/internal/audit"
)

func TestLogHidesSecrets(t *testing.T) {
	var secrets audit.Redactor
	path := filepath.Join(t.TempDir(), "bothyd.log")
	log, err := Open(path, "", Settings{Level: "debug"}, secrets.Writer, nil)
	if err != nil {
		t.Fatal(err)
	}
	secrets.Add("sk-a-key-that-is-live")
	log.Named("plugin").Error("request failed", "header", "Bearer sk-a-key-that-is-live")
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "sk-a-key") || !strings.Contains(string(text), "Bearer [secret]") {
		t.Errorf("log:\n%s", text)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if info.Mode().Perm() != 0o600 {
		t.Errorf("the log may be read by others: %v", info.Mode())
	}
	if _, err := Open(path, "", Settings{Level: "loud"}, secrets.Writer, nil); err == nil || !strings.Contains(err.Error(), "debug") {
		t.Errorf("level loud: %v", err)
	}
}
