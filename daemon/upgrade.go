package daemon

import (
	"fmt"
	"os"

	"github.com/bothyd/bothy/sdk"
)

// binary is the file that this process was started from.
type binary struct {
	path string
	info os.FileInfo // nil when it is not known
}

func ownBinary() binary {
	path, err := os.Executable()
	if err != nil {
		return binary{}
	}
	info, err := os.Stat(path)
	if err != nil {
		return binary{}
	}
	return binary{path, info}
}

// changed says for people that another build lies where this one lay, as after
// an upgrade, or is empty. Nobody is interrupted for that: the daemon goes on
// until it is stopped.
func (b binary) changed() string {
	if b.info == nil {
		return ""
	}
	there, err := os.Stat(b.path)
	if err == nil && os.SameFile(there, b.info) && there.ModTime().Equal(b.info.ModTime()) {
		return ""
	}
	return fmt.Sprintf("this is bothyd %s, and another build lies at %s since: `bothy stop` ends this one, the next call starts the other, and what is at work goes on there", sdk.Version, b.path)
}
