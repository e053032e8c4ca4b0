// Package arch checks the structure of the project: allowed imports, allowed folders, sizes, and what no file may
// contain. Its tests apply the rules to the whole project on every run.
package arch
