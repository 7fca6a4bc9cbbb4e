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

// Remove takes a plugin's block out of the user's configuration, its entry out
// of the lock, and all its versions that nothing else uses out of the store, and the
// folder that it had as a confined one, unless that is to be kept. One that comes with
// Bothy is switched off.
func (f *Files) Remove(label string, keepHome bool) (Removal, error) {
	out := Removal{Label: label}
	b, configured := labelled(f.blocks(), label)
	lock, err := config.ReadLock(f.LockPath())
	if err != nil {
		return out, err
	}
	if _, out.Unlocked = lock.Plugins[label]; !configured && !out.Unlocked {
		return out, f.noSuch([]string{label})
	}
	if configured {
		if err := f.unconfigure(&out, b); err != nil {
			return out, err
		}
	}
	if out.Unlocked {
		if _, _, err := config.EditLock(f.LockPath(), func(l *config.Lock) error {
			delete(l.Plugins, label)
			return nil
		}); err != nil {
			return out, err
		}
	}
	if !out.Disabled {
		f.Inspector.forget(b.Path)
	}
	if !out.Disabled && f.Inspector.digestOf(b.Path) != "" {
		for _, file := range f.Inspector.versions(filepath.Base(b.Path)) {
			gone, err := f.drop(file, label)
			if err != nil {
				return out, err
			}
			if gone {
				out.Deleted = append(out.Deleted, file)
			}
		}
	}
	if !out.Disabled && !keepHome {
		if err := f.clearHome(&out); err != nil {
			return out, err
		}
	}
	out.Note = f.afterwards()
	return out, nil
}

func (f *Files) clearHome(out *Removal) error {
	own := f.Inspector.ConfinedDir(out.Label)
	if _, err := os.Lstat(own); err != nil || config.CheckLabel(out.Label) != nil {
		return nil // it has none
	}
	if err := bundle.Remove(own); err != nil {
		return sdk.Errorf(sdk.Unavailable, "remove the folder of %s: %w", out.Label, err)
	}
	out.Home = own
	return nil
}

// ConfinedDir is the folder, in the daemon's data, of what a confined plugin keeps.
func (s *Inspector) ConfinedDir(label string) string {
	return filepath.Join(s.cfg.DataDir, "confined", label)
}

func (f *Files) unconfigure(out *Removal, b config.Plugin) error {
	kind := "plugin"
	if _, is := labelled(f.Config.Plugins, b.Label); !is {
		kind = "provider"
	}
	var changed bool
	var err error
	if out.Disabled = f.bundled(b); out.Disabled {
		no := false
		changed, err = config.SetPlugin(f.Path, config.PluginEdit{Kind: kind, Label: b.Label, Enabled: &no})
	} else {
		changed, err = config.RemoveBlock(f.Path, kind, b.Label)
	}
	if changed {
		out.Config = f.Path
	}
	return err
}
