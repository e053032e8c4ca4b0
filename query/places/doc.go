// Package places resolves what a client names. It finds a city by any of its names,
// the position of a pin code, and the stations near a position.
package places
