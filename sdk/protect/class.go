package protect

// Class says who has to agree to a change of a path.
type Class int

// The classes, from the one that nobody guards to the one that nobody changes.
const (
	Free    Class = iota // the project: commands and tools change it
	Asked                // editors and tools run it when a person opens or builds: a person is asked
	Refused              // git, Bothy, a shell or another agent obeys it without a word: nothing changes it
)

// String is the word that people read.
func (c Class) String() string {
	switch c {
	case Free:
		return "free"
	case Asked:
		return "asked"
	default:
		return "refused"
	}
}

// Finding is what is known of the change of a path. The zero one is of a path
// that is free.
type Finding struct {
	Class Class
	// Reason is why it is not free: a sentence about Name, such as "git obeys it".
	Reason string
	// Name is the path that the reason is about: the path itself, a folder that it
	// lies in, or one that it holds.
	Name string
	// Holds says that the path is a folder with Name in it, which changes when the
	// folder is moved, replaced or removed, and not when it is made.
	Holds bool
}

// The reasons. Those that a person reads stand in a sentence behind a colon.
const (
	byGit      = "git obeys it"
	byBothy    = "Bothy trusts it"
	byAgent    = "agents that are opened here obey it"
	byShell    = "shells run it when they start"
	byEditor   = "editors and tools run what is in it when a person opens or builds the project"
	byHooks    = "hooks of git run it"
	byDrivers  = "it says which programs git runs for a file"
	byRemote   = "it says which servers git speaks to"
	byProgram  = "the configuration of git names it as a program"
	byTelling  = "it tells agents what to do"
	bySetting  = "the configuration of Bothy protects it"
	byHolder   = "the project lies in a folder of Bothy's own"
	byBecoming = "with it git takes the folder for a repository, and obeys what is in it"
	byUnread   = "nobody may look into it"
	byBecame   = "git takes it for a repository"
	byReftable = "git keeps its references there in a form that is not read here, and one of them could put other contents in an object's place"
	byLinkGit  = "git would write through it to where it leads"
)

// GitsOwn is the reason of what lies in a repository and is git's own to change:
// names alone are refused there, and what commands of git change is free.
const GitsOwn = "git keeps its own state there, which only commands of git change"

// stricter is the finding of the higher class; of two alike it is the first.
func stricter(a, b Finding) Finding {
	if b.Class > a.Class {
		return b
	}
	return a
}
