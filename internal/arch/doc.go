// Package arch checks the structure of the project: allowed imports, allowed folders, sizes, and texts that no
// file may contain. Its tests check the whole project.
package arch
