package plugin

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
)

// command answers the sub-commands that every binary has. Other arguments are
// the operator's and go to the plugin itself.
func command(o Options, args []string, stdout, stderr io.Writer) (code int, done bool) {
	switch args[0] {
	case "describe":
		b, err := json.MarshalIndent(newService(o).manifest(), "", "  ")
		if err == nil {
			_, err = fmt.Fprintf(stdout, "%s\n", b)
		}
		if err != nil {
			fmt.Fprintf(stderr, "describe: %v\n", err)
			return 1, true
		}
		return 0, true
	case "test":
		return test(args[1:], stdout, stderr), true
	case "dev":
		return dev(o, stdout, stderr), true
	case "version", "--version":
		fmt.Fprintf(stdout, "bothy-plugin-%s %s (plugin protocol %d)\n", o.Name, o.Version, Protocol)
		return 0, true
	}
	return 0, false
}

// byHand tells a person who started the binary what it is.
func byHand(o Options, w io.Writer) {
	fmt.Fprintf(w, `bothy-plugin-%[1]s %[2]s is a plugin of Bothy and does nothing by itself: the daemon starts it.

To let the daemon start it:

    bothy plugins install /where/it/is/bothy-plugin-%[1]s

or, to run it from where it is, write into ~/.config/bothy/config.hcl:

    %[3]s %[1]q {
      path = "/where/it/is/bothy-plugin-%[1]s"
    }

For its author:

    bothy-plugin-%[1]s describe   what it offers, as JSON
    bothy-plugin-%[1]s test       whether it keeps to the plugin protocol (--help says more)
    bothy-plugin-%[1]s dev        serve until it is ended, for "bothy plugins dev" to attach, and for a debugger
    bothy-plugin-%[1]s version    its version and that of the protocol
`, o.Name, o.Version, block(o))
}

// block is the type of the block that a plugin has in the configuration.
func block(o Options) string {
	if slices.Equal(newService(o).manifest().Kinds, []string{KindProvider}) {
		return "provider"
	}
	return "plugin"
}
