// Package offer takes skills that lie elsewhere than in a folder of skills: a folder, a Markdown
// file or a zip archive below a project, or a text that was fetched. What is taken is copied into
// the project's folder on a Shelf, one of its workspace tier, where it is inert like every skill
// that came with the project, until a person trusts its hash.
//
//	shelf    what is kept, and under which hash
//	source   the folder, file or archive of a path
//	zip      what an archive holds, within the limits of a skill
//
// Nothing is taken through a link, and nothing that is taken is executed.
package offer
