package skill

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"syscall"
	"time"
)

// begin tries to watch, if it does not. It does not try too often: to take all
// watches that are left and give them back costs much.
func (v *vigil) begin() {
	if v.watches != nil || !v.tried.IsZero() && time.Since(v.tried) < v.times.Again {
		return
	}
	v.tried = time.Now()
	n, err := v.open()
	if err != nil {
		v.polling(err)
		return
	}
	v.watches = &watches{notify: n, hint: v.hint, lost: v.lost, fail: v.fail, stall: v.stall}
	v.watches.start()
}

// lost counts a time that the kernel threw events away.
func (v *vigil) lost() {
	v.mu.Lock()
	v.overflow++
	v.mu.Unlock()
	v.log.Warn("events were lost, so that all skills are looked at")
}

// fail makes the next look give the notifier up.
func (v *vigil) fail(err error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.failed == nil {
		v.failed = err
	}
}

// giveUp goes over to polling when the notifier failed, else says that it
// watches.
func (v *vigil) giveUp() {
	v.mu.Lock()
	err := v.failed
	v.failed = nil
	if err == nil && v.watches != nil {
		v.why = ""
	}
	v.mu.Unlock()
	if err != nil {
		v.letGo()
		v.polling(err)
	}
}

// polling says why the folders are looked at again and again.
func (v *vigil) polling(err error) {
	why := remedy(err)
	v.mu.Lock()
	fresh := v.why != why
	v.why = why
	v.mu.Unlock()
	if fresh {
		v.log.Warn("skills cannot be watched and are looked at again and again", "every", v.times.Poll, "reason", why)
	}
}

// remedy says what a person can do about it, where we know.
func remedy(err error) string {
	switch {
	case errors.Is(err, syscall.ENOSPC):
		return fmt.Sprintf("%v: raise the sysctl fs.inotify.max_user_watches", err)
	case errors.Is(err, syscall.EMFILE):
		return fmt.Sprintf("%v: raise the sysctl fs.inotify.max_user_instances, or the limit on open files", err)
	}
	return err.Error()
}

func (v *vigil) letGo() {
	if v.watches != nil {
		v.watches.close()
	}
	v.watches = nil
}

// moved reports whether something else is at the shelf's path by now.
func (s *shelf) moved() bool {
	info, err := os.Stat(s.at.Path)
	if err != nil {
		return s.state.Exists && missing(err)
	}
	return !s.state.Exists || s.here != (identity{}) && keyOf(info).identity != s.here
}

// sameSight reports whether two sights show the same.
func sameSight(a, b []shown) bool {
	return slices.EqualFunc(a, b, func(x, y shown) bool {
		return x.state == y.state && slices.Equal(x.docs, y.docs) && maps.Equal(x.sums, y.sums)
	})
}
