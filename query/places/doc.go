// Package places resolves what a client names: a city by any of its names, the
// position of a pin code, and stations near a position.
package places
