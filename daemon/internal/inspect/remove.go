package inspect

import (
	"os"
	"path/filepath"

	"github.com/bothyd/bothy/daemon/internal/bundle"
	"github.com/bothyd/bothy/daemon/internal/config"
	"github.com/bothyd/bothy/sdk"
)

// Removal is what became of a plugin that was to be removed.
type Removal struct {
	Label    string   `json:"label"`
	Config   string   `json:"config,omitempty"`  // the file that was edited
	Disabled bool     `json:"disabled"`          // it comes with Bothy, so that it was switched off instead
	Unlocked bool     `json:"unlocked"`          // its entry in bothy.lock is gone
	Deleted  []string `json:"deleted,omitempty"` // files of the store: all versions that no other block uses
	Home     string   `json:"home,omitempty"`    // the folder that a confined plugin had, which is gone
	Note     string   `json:"note,omitempty"`
}

// Remove takes a plugin's block out of the user's configuration, its entry out of the lock,
// and removes its versions that nothing else uses, and the folder that it had as a confined
// one unless that is to be kept. One that comes with Bothy is switched off. agreed is called
// before any other is touched; its error leaves all as it is. letGo is called
// when block and entry are gone and no file is: a daemon is to end the plugin then.
func (f *Files) Remove(label string, keepHome bool, agreed func() error, letGo func()) (Removal, error) {
	out := Removal{Label: label}
	b, kind, configured := f.labelled(label)
	lock, err := config.ReadLock(f.LockPath())
	if err != nil {
		return out, err
	}
	if _, out.Unlocked = lock.Plugins[label]; !configured && !out.Unlocked {
		return out, f.noSuch(label)
	}
	out.Disabled = configured && f.bundled(b)
	if !out.Disabled {
		if err := agreed(); err != nil {
			return out, err
		}
	}
	if configured {
		changed, no := false, false
		if out.Disabled {
			changed, err = config.SetPlugin(f.Path, config.PluginEdit{Kind: kind, Label: label, Enabled: &no})
		} else {
			changed, err = config.RemoveBlock(f.Path, kind, label)
		}
		if changed {
			out.Config = f.Path
		}
	}
	if err == nil && out.Unlocked {
		_, err = f.pin(label, nil)
	}
	if err != nil {
		return out, err
	}
	letGo()
	if !out.Disabled {
		err = f.clear(&out, b.Path, keepHome)
	}
	out.Note = f.afterwards()
	return out, err
}

// clear removes what is kept of a plugin besides: files, and what it kept itself.
func (f *Files) clear(out *Removal, path string, keepHome bool) error {
	f.Inspector.forget(path)
	if f.Inspector.digestOf(path) != "" {
		for _, file := range f.Inspector.versions(filepath.Base(path)) {
			gone, err := f.drop(file, out.Label)
			if err != nil {
				return err
			}
			if gone {
				out.Deleted = append(out.Deleted, file)
			}
		}
	}
	home := filepath.Join(f.Inspector.cfg.DataDir, "confined", out.Label)
	if _, err := os.Lstat(home); err != nil || keepHome || config.CheckLabel("plugin", out.Label) != nil {
		return nil
	}
	if err := bundle.Remove(home); err != nil {
		return sdk.Errorf(sdk.Unavailable, "remove the folder of %s: %w", out.Label, err)
	}
	out.Home = home
	return nil
}
