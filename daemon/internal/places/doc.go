// Package places knows the folders in which skills and agents are looked for: those of the
// person, and those of a workspace, whose files are somebody else's. It finds out where links
// in them lead, and follows those that stay in what is allowed. Views are the folders as they
// are followed: those that all projects share, and those of each workspace in use.
package places
