package rpc

// Learning is the parameters of memory/learning, which says in the user's configuration of whom, of which agent or in which project
// something is learned: one of the three.
type Learning struct {
	Learn  bool   `json:"learn" access:"free" jsonschema:"false: nothing is learned from now on; true: it is again"`
	Owner  string `json:"owner,omitempty" access:"free" jsonschema:"of whom: local, the label of a person's block, or a group"`
	Agent  string `json:"agent,omitempty" access:"free" jsonschema:"of the runs of an agent"`
	Folder string `json:"folder,omitempty" access:"free" jsonschema:"of the runs in a project, by the absolute path of its folder"`
}

// LearningSet answers memory/learning: it is in force.
type LearningSet struct {
	File    string `json:"file"`
	Changed bool   `json:"changed"` // false: the block said so already
}
