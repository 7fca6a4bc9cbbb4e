// Package group is about the process groups of plugins: the daemon tells
// bothy-shim of them, which kills those that a killed daemon leaves behind.
package group

import (
	"bufio"
	"fmt"
	"io"
)

// Group is a process group by its leader. The number alone may be another's by
// the time that it is killed.
type Group struct {
	ID   int    // the leader's process id
	Born uint64 // when the leader started, in the kernel's own measure; 0 is unknown
}

// Of is the group that a process leads.
func Of(pid int) Group { return Group{ID: pid, Born: born(pid)} }

// Line tells the reaper that the group is there, or is no more.
func (g Group) Line(there bool) string {
	if there {
		return fmt.Sprintf("+ %d %d\n", g.ID, g.Born)
	}
	return fmt.Sprintf("- %d %d\n", g.ID, g.Born)
}

// Kill ends all processes of the group, unless its number is another's by now:
// the kernel gives no number away while a group has it, so only a leader of
// another age can be one.
func (g Group) Kill() error {
	if g.ID <= 1 { // all processes of the user, or our own
		return fmt.Errorf("%d is no group", g.ID)
	}
	if now := born(g.ID); now != 0 && now != g.Born {
		return nil
	}
	return kill(g.ID)
}

// Reap reads lines until the other end is closed, which is when the daemon has
// ended, and then kills the groups that are still there. A line that it does not
// know it skips.
func Reap(from io.Reader) {
	there := map[Group]bool{}
	for lines := bufio.NewScanner(from); lines.Scan(); {
		var sign string
		var g Group
		if _, err := fmt.Sscan(lines.Text(), &sign, &g.ID, &g.Born); err != nil {
			continue
		}
		switch sign {
		case "+":
			there[g] = true
		case "-":
			delete(there, g)
		}
	}
	for g := range there {
		_ = g.Kill() // nobody is there to hear of it
	}
}
