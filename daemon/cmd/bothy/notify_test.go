package main

import (
	"encoding/json"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/bothyd/bothy/sdk"
	"github.com/bothyd/bothy/sdk/rpc"
)

// waiting is a proposal of a run that was made a while ago.
func waiting(id, run string, ago time.Duration) sdk.Proposal {
	return sdk.Proposal{ID: id, Alias: run, Project: "/home/me/pro\x1bject", Tool: "bash", Command: "rm -r build", State: sdk.StateProposed, Created: time.Now().Add(-ago)}
}

func TestNotify(t *testing.T) {
	b := withDaemon(t, nil)
	for _, args := range [][]string{{"notify"}, {"notify", "--count"}, {"notify", "--json"}} {
		b.want(t, exitOK, args...)
		if want := map[string]string{"notify": "", "--count": "0\n", "--json": "[]\n"}[args[len(args)-1]]; b.out.String() != want || b.err.String() != "" {
			t.Errorf("%v: %q, %q", args, b.out.String(), b.err.String())
		}
	}
	b.daemon.policy.propose(waiting("1a2b3c4d", "fix-42", 5*time.Minute+time.Second))
	b.daemon.mistakes = []string{"config.hcl:1: odd"} // which is not for a prompt
	b.want(t, exitOK, "notify")
	if b.out.String() != "pro\\x1bject/fix-42: bash, 5m\n" || b.err.String() != "" {
		t.Errorf("%q, %q", b.out.String(), b.err.String())
	}
	b.want(t, exitOK, "notify", "--count")
	if b.out.String() != "1\n" {
		t.Errorf("%q", b.out.String())
	}
	b.want(t, exitOK, "notify", "--json")
	var all []wait
	if err := json.Unmarshal([]byte(b.out.String()), &all); err != nil || len(all) != 1 || all[0].ID != "1a2b3c4d" || all[0].Run != "fix-42" || all[0].Command != "rm -r build" {
		t.Errorf("%v %+v", err, all)
	}
	b.want(t, exitOK, "status")
	if !strings.Contains(b.out.String(), "waits     pro\\x1bject/fix-42: bash, 5m (`bothy proposals show 1a2b3c4d`)\n") {
		t.Error(b.out.String())
	}
	b.want(t, exitOK, "status", "--json")
	if !strings.Contains(b.out.String(), `"waits": [`) {
		t.Error(b.out.String())
	}
}

// TestStatusNamesSomeOfMany: a long list is for another verb.
func TestStatusNamesSomeOfMany(t *testing.T) {
	b := newBench(t)
	var many []wait
	for i := range 7 {
		many = append(many, wait{ID: fmt.Sprint(i), Run: "r", Project: "/p", Tool: "bash", Since: time.Now()})
	}
	if err := b.c.printStatus(rpc.Status{}, many); err != nil {
		t.Fatal(err)
	}
	if out := b.out.String(); strings.Count(out, "waits ") != 6 || !strings.Contains(out, "and 2 more: `bothy proposals` lists them") {
		t.Error(out)
	}
}

// TestNotifyWithoutDaemon: nothing is started and nothing said, whether there is no
// daemon or one that does not answer.
func TestNotifyWithoutDaemon(t *testing.T) {
	b := newBench(t)
	socket, err := rpc.SocketPath(b.c.env)
	if err != nil {
		t.Fatal(err)
	}
	for _, hangs := range []bool{false, true} {
		if hangs {
			if err := os.MkdirAll(filepath.Dir(socket), 0o700); err != nil {
				t.Fatal(err)
			}
			l, err := net.Listen("unix", socket)
			if err != nil {
				t.Fatal(err)
			}
			defer l.Close()
		}
		b.want(t, exitOK, "notify")
		if b.out.String()+b.err.String() != "" {
			t.Errorf("%q, %q", b.out.String(), b.err.String())
		}
		b.want(t, exitOK, "notify", "--count")
		if b.out.String() != "0\n" {
			t.Errorf("%q", b.out.String())
		}
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(filepath.Dir(b.project)), "state")); err == nil {
		t.Error("a daemon's state was made")
	}
}

func TestAge(t *testing.T) {
	for d, want := range map[time.Duration]string{
		-time.Second: "0s", 59 * time.Second: "59s", time.Minute: "1m", 59*time.Minute + 59*time.Second: "59m", time.Hour: "1h", 47 * time.Hour: "47h", 50 * time.Hour: "2d",
	} {
		if got := age(d); got != want {
			t.Errorf("%v is %s, want %s", d, got, want)
		}
	}
}
