// Package builtin holds the daemon's own tools: those that belong to no plugin.
// They are recorded, judged and dispatched like any other tool. There are
// use_skill, by which a model loads a skill (a person does the same by a prompt
// that begins with /name), and open_network, by which it asks for the network.
//
//	Skills     where skills come from, and what a run has of them
//	Turn       the skills as one turn of a run has them, with the tool
//	Typed      a prompt that begins with /name
//	load       the pinned copy of a skill, and its entry skill://NAME
//	Network    whether commands have the network, and open_network
//	fill       $ARGUMENTS and its like
package builtin
