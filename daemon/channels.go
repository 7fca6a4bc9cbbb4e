package daemon

import "github.com/bothyd/bothy/sdk/channel"

// lend lends a plugin that is served as a channel the daemon's socket, with a
// token for its projects. Nothing that the daemon writes has the token in it.
func (d *Daemon) lend(pid int, instance string, projects []string) (channel.Access, func()) {
	token, end := d.channels.Lend(pid, instance, projects)
	d.secrets.Add(token)
	return channel.Access{Socket: d.listener.Path(), Token: token, Projects: projects}, end
}
