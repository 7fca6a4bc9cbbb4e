package host

import (
	"testing"
	"time"

	"github.com/bothyd/bothy/daemon/internal/inspect"
	"github.com/bothyd/bothy/sdk/rpc"
)

// TestPluginsWaitForNoListener: what is told of a plugin is in its status, however long whoever is told
// takes to hear it.
func TestPluginsWaitForNoListener(t *testing.T) {
	telling, heard := make(chan struct{}), make(chan struct{})
	r := started(t, func(c *Config) {
		c.Diagnose = func(d inspect.Diagnostic) {
			close(telling)
			<-heard
		}
	}, spec("fault", ""))
	i, err := r.instance("fault")
	if err != nil {
		t.Fatal(err)
	}
	said := make(chan struct{})
	go func() {
		defer close(said)
		i.say(ofBlock, i.current().Fail("its block is wrong", "So it is."))
	}()
	<-telling
	listed := make(chan []rpc.Plugin, 1)
	go func() { listed <- r.Plugins() }()
	select {
	case all := <-listed:
		if len(all) != 1 || all[0].Error != "it goes on with the block that it had: its block is wrong: So it is." {
			t.Errorf("%+v", all)
		}
	case <-time.After(time.Minute):
		t.Error("it waits for who is told")
	}
	close(heard)
	<-said
}
