package watch

import "github.com/fsnotify/fsnotify"

// Notifier tells what happens in folders: to the folders, and to what lies
// directly in them. A folder that takes the place of one that was added is not
// watched. Close closes the channels. Tests replace it by one that fails.
type Notifier interface {
	Add(folder string) error
	Remove(folder string) error
	Events() <-chan fsnotify.Event
	Errors() <-chan error
	Close() error
}

type native struct{ *fsnotify.Watcher }

func (n native) Events() <-chan fsnotify.Event { return n.Watcher.Events }
func (n native) Errors() <-chan error          { return n.Watcher.Errors }

// Open asks the system for a Notifier. There may be none left.
func Open() (Notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return native{w}, nil
}
