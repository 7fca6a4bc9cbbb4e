package scaffold

import (
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/bothyd/bothy/sdk"
)

//go:embed starter.hcl
var starter []byte

// Config writes a first configuration in which everything is commented out.
// One that is there is a conflict; with force it is kept beside the new one,
// under the name that is returned.
func Config(path string, force bool, now time.Time) (kept string, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return "", fmt.Errorf("make the folder of the configuration: %w", err)
	}
	if _, err := os.Lstat(path); err == nil && force {
		kept = path + "." + now.Format("20060102-150405")
		if _, err := os.Lstat(kept); err == nil {
			return "", sdk.Errorf(sdk.Conflict, "%s is there already; try again in a second", kept)
		}
		if err := os.Rename(path, kept); err != nil {
			return "", fmt.Errorf("keep the old configuration: %w", err)
		}
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return "", sdk.Errorf(sdk.Conflict, "%s is there already and was left as it is; edit it, or call `bothy config init --force`, which keeps it beside the new one", path)
	}
	if err != nil {
		return kept, fmt.Errorf("write the configuration: %w", err)
	}
	_, err = f.Write(starter)
	if err := errors.Join(err, f.Sync(), f.Close()); err != nil {
		return kept, fmt.Errorf("write %s: %w", path, err)
	}
	return kept, nil
}
