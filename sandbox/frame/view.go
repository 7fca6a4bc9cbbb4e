package frame

import "time"

// ViewVersion is the protocol that the manager and bothy-view must both speak;
// it travels in [ViewHello]. A helper of another version is not used.
const ViewVersion = 2

// ViewSource is the source of every view's mount, by which one that a dead
// manager left is known in mountinfo.
const ViewSource = "bothy-view"

// ViewHello is the first that bothy-view says. From then on each side sends gob
// values over one stream in each direction: the manager [ViewRequest], the helper
// one [ViewReply] for each, in any order. Names of files are bytes, which JSON
// would not keep.
type ViewHello struct {
	Version int
}

// ViewOp is what a [ViewRequest] asks for.
type ViewOp string

// The requests, with the fields of [ViewRequest] that they read, and the fields of
// [ViewReply] that answer them.
const (
	ViewSlot      ViewOp = "slot"      // Path
	ViewUnslot    ViewOp = "unslot"    // Path
	ViewMountOp   ViewOp = "mount"     // View
	ViewUnmount   ViewOp = "unmount"   // Path, Alone
	ViewList      ViewOp = "list"      // View, Most; Changes
	ViewRead      ViewOp = "read"      // View, Path, Most; Data
	ViewApply     ViewOp = "apply"     // View, Steps; Results
	ViewSync      ViewOp = "sync"      // View, Paths
	ViewRemove    ViewOp = "remove"    // Path
	ViewLeftovers ViewOp = "leftovers" // Path; Paths
	ViewProbe     ViewOp = "probe"     // Path, Paths; Probe
)

// ViewRequest asks bothy-view for one thing.
type ViewRequest struct {
	ID    uint64
	Op    ViewOp
	View  View
	Path  string
	Paths []string
	Most  int
	Alone bool
	Steps []ViewStep
}

// The codes of a [ViewReply] that failed, beside "" for whatever the kernel said.
const (
	// ViewBusy: somebody still uses what is mounted.
	ViewBusy = "busy"
	// ViewRefused: it cannot be done with this project or these folders; the
	// error is a sentence for a person.
	ViewRefused = "refused"
	// ViewLarge: there is more than Most.
	ViewLarge = "large"
	// ViewSwapped: the project is no longer the folder that it was.
	ViewSwapped = "swapped"
)

// ViewReply answers the request with the same ID. Error is empty when it was done.
// An apply that failed has the results of the steps before.
type ViewReply struct {
	ID          uint64
	Code, Error string
	Changes     []ViewChange
	Data        []byte
	Results     []ViewResult
	Paths       []string
	Probe       ViewProbed
}

// View says what a command works on and where its changes are kept.
type View struct {
	// Slot is the folder that the view is mounted on.
	Slot string
	// Project is the folder below, which must still be Device and Inode.
	Project       string
	Device, Inode uint64
	// Dir is the view's own folder. In it lie u (what the command changed), w
	// (the kernel's own) and o (what was taken out of the project).
	Dir string
	// Held is the u of another view of the same project, whose changes wait for
	// an answer: they are seen as if they were in the project. Empty: there are
	// none.
	Held string
	// Aside is a folder that is there, into which [StepMove] moves.
	Aside string
}

// ViewNode is what is at a path. Its Kind is "" for nothing, or "file",
// "directory", "link" or "other".
type ViewNode struct {
	Kind string
	// Mode has the twelve bits of chmod.
	Mode          uint32
	Size          int64
	Device, Inode uint64
	Changed       time.Time // ctime
	Modified      time.Time // mtime
	Target        string    // of a link
	UID           uint32    // as Podman's user namespace has it: 0 is the caller
	Links         int       // how many names it has
}

// ViewIdentity is which file something is. The zero value is nothing.
type ViewIdentity struct {
	Device, Inode uint64
	// Changed is the ctime that it must still have, unless it is zero.
	Changed time.Time
	// Modified is the mtime of a file with several names, and will do instead: to
	// apply one of the names changes the ctime of all.
	Modified time.Time
}

// Identity is which file a node is, unchanged.
func (n ViewNode) Identity() ViewIdentity {
	id := ViewIdentity{Device: n.Device, Inode: n.Inode, Changed: n.Changed}
	if n.Kind != "directory" && n.Links > 1 {
		id.Modified = n.Modified
	}
	return id
}

// ViewChange is one path that a command changed. A path is relative to the
// project and may hold any byte but 0 and has slashes; "." is the project itself.
type ViewChange struct {
	Path string
	// Was is what the project has there now, Is what the view makes of it.
	Was, Is ViewNode
	// Whole says that Is is a folder which hides what the project has there:
	// all that lies in it follows as changes of its own.
	Whole bool
	// Copied says that the kernel made Is from something that was there before.
	// With an empty Was, that is gone from the project since. Links, and what had
	// several names, never have it.
	Copied bool
	// Marked says that [ViewStep.Clean] would be wrong: Is has something that is
	// stripped or dropped when it is applied.
	Marked bool
	// Newest, Files and Bytes are of a folder of the project that goes, or that
	// another takes the place of: the newest ctime in it, how many entries lie in
	// it, and the bytes of its files.
	Newest time.Time
	Files  int
	Bytes  int64
}

// The steps of an apply. A step whose result is there already is answered with
// [ViewAlready], so that an apply that was cut short can be made again as it was.
const (
	// StepPut moves Upper to where the project has nothing.
	StepPut = "put"
	// StepSwap exchanges Upper and Lower.
	StepSwap = "swap"
	// StepTake moves Lower out of the project.
	StepTake = "take"
	// StepMkdir makes a folder of Mode where nothing was: what is to be in it
	// comes by steps of its own. A folder that is there already will do.
	StepMkdir = "mkdir"
	// StepMode sets the mode of a folder of the project.
	StepMode = "mode"
	// StepHold moves Upper to Held, in the place of what is there; a folder that the
	// command added to is added to what is there. Of a folder that merely has another
	// mode only that is held: what is in it has steps of its own.
	StepHold = "hold"
	// StepRelease removes what Held has at Path. Upper and Lower are not read.
	StepRelease = "release"
	// StepMove moves Upper to the same path below Aside, in the place of what is there; a
	// zero one is whatever the view has.
	StepMove = "move"
	// StepDrop removes Upper from the view; a zero one is whatever is there.
	StepDrop = "drop"
)

// ViewStep is one step of an apply. Upper is what the view has at Path and Lower
// what the project has, as they were listed; both are looked at again right before.
type ViewStep struct {
	Op   string
	Path string
	// Upper is zero of what the command removed. Its Changed is not compared.
	Upper ViewIdentity
	Lower ViewIdentity
	// Old is the number below o of what comes out of the project; put, swap and
	// take need one that no other step of the view has, ever.
	Old int
	// From makes put and swap bring what lies below o under that number, as it is,
	// instead of what the view has at Path: so what was taken comes back. What was
	// exchanged comes back by a swap with Upper and Lower the other way round.
	From int
	Mode uint32
	// Clean says that Upper and all that is in it was listed as not
	// [ViewChange.Marked], and saves the search for what is to be stripped: the
	// overlay's attributes, capabilities, setuid and setgid bits of files,
	// sockets, pipes and devices.
	Clean bool
}

// The states of a [ViewResult].
const (
	ViewDone     = "done"
	ViewAlready  = "already"
	ViewConflict = "conflict"
)

// ViewResult is how a step ended. After a conflict the project is as if the step
// had never been, and Reason says what was found there.
type ViewResult struct {
	State  string
	Reason string
	// Refused says of a conflict that the system does not allow the step: nobody has
	// changed anything, and Reason is the system's.
	Refused bool
	// Old is where what came out of the project lies, relative to [View.Dir]: "u/"
	// and the path after an exchange, "o/" and its number after a take or when the
	// view is on another file system. Empty: nothing came out, or it is not there
	// any more.
	Old string
	// Is is what the project has at the path now, of put, swap, mkdir and mode.
	Is ViewNode
}

// ViewProbed is whether views of a project are possible.
type ViewProbed struct {
	// Dir is the folder, of those that were asked about, to keep views in. Empty:
	// no view is possible, and Reason is the sentence that says why.
	Dir    string
	Reason string
	// Copied says that Dir is on another file system than the project: applying
	// copies.
	Copied bool
	// Free are the bytes that can be written in Dir.
	Free int64
	// Tried are all folders that were tried, with what was found, in order.
	Tried []string
}
