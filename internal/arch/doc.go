// Package arch checks the structure of the project: allowed imports, allowed folders, sizes, texts that no file may
// contain, and values that the messages of assertions contain. Its tests check the whole project.
package arch
