// Command bothy-view makes the views that commands work on: an overlay of a
// project, mounted on a folder that a container sees, so that a command never
// writes to the project itself. It lists what a command changed, exchanges it
// with what the project has, and removes it. It judges nothing: what is applied
// is the manager's to say.
//
// The sandbox's manager starts it with `podman unshare`, so it is root of the
// user's own namespace, inside of the mount namespace that the containers' mounts
// come from. It has no more than the user and the user's subordinate ids have.
// It reads requests from standard input and answers on standard output (see
// sandbox/frame), and ends at once when the input does: nothing may go on beside
// the helper of the next manager. What it was doing is then found half done, and
// each request can be made again.
//
// Nothing that lies in a project or in a view is opened through a link or across
// a mount. Requests run side by side, those on one view one after the other, also
// among several helpers: each holds a lock on the view's folder.
package main
