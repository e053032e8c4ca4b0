// Package arch checks the structure of the project: allowed imports and folders, sizes, forbidden words, functions with
// the same body, values that assertions print, and lists of files in CONTRIBUTING.md. Its tests check the whole project.
package arch
