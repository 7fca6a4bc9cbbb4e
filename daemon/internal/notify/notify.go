// Package notify is what the daemon's watchers need of fsnotify: an interface,
// which their tests replace by one that fails.
package notify

import "github.com/fsnotify/fsnotify"

// Notifier tells what happens in folders. It tells of the folders and what lies
// directly in them; a folder that is another one than when it was added is not
// followed. Its channels are closed by Close.
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

// Open asks the system for one. There may be none left: who watches can look
// again and again instead.
func Open() (Notifier, error) {
	w, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, err
	}
	return native{w}, nil
}
