// Package group is about the process groups of plugins: the daemon tells
// bothy-shim of them, which kills those that a killed daemon leaves behind.
package group

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Group is a process group by its leader. The number alone may be another's by
// the time that it is killed.
type Group struct {
	ID   int    // the leader's process id
	Born uint64 // when the leader started, in the kernel's own measure; 0 is unknown
	Mark string // what the environment has of all that the leader started; see KillMarked
}

// Of is the group that a process leads which was started with a mark.
func Of(pid int, mark string) Group { return Group{ID: pid, Born: born(pid), Mark: mark} }

// Line tells the reaper that the group is there, or is no more.
func (g Group) Line(there bool) string {
	sign := "-"
	if there {
		sign = "+"
	}
	return fmt.Sprintf("%s %d %d %s\n", sign, g.ID, g.Born, g.Mark)
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
	there := map[Group]*Space{}
	for lines := bufio.NewScanner(from); lines.Scan(); {
		words := strings.SplitN(lines.Text(), " ", 4)
		if len(words) < 4 {
			continue
		}
		sign, g := words[0], Group{Mark: words[3]}
		if _, err := fmt.Sscan(words[1]+" "+words[2], &g.ID, &g.Born); err != nil {
			continue
		}
		switch sign {
		case "+":
			there[g].Close() // told twice
			there[g] = g.space()
		case "-":
			there[g].Close()
			delete(there, g)
		}
	}
	for g, space := range there {
		_ = g.Kill() // nobody is there to hear of it
		KillMarked(g.Mark, space)
	}
}

// space is the user namespace of the leader, as long as its number is the leader's.
func (g Group) space() *Space {
	if g.ID <= 1 || g.Mark == "" {
		return nil
	}
	s := SpaceOf(g.ID)
	if born(g.ID) != g.Born {
		s.Close()
		return nil
	}
	return s
}
