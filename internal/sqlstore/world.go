package sqlstore

import (
	"context"

	"vayu/schema"
)

// worldKey is the key of a context's world.
type worldKey struct{}

// InWorld marks the changes that are made with ctx as those of a world. The store
// serves the live world first: what the sandbox does is free and uncounted, so it must not
// delay what customers pay for. Changes with no world are served as live ones.
func InWorld(ctx context.Context, w schema.World) context.Context {
	if w != schema.Sandbox {
		return ctx
	}
	return context.WithValue(ctx, worldKey{}, w)
}

// WorldOf is the world with which a context is marked; the live one for none.
func WorldOf(ctx context.Context) schema.World {
	if ofSandbox(ctx) {
		return schema.Sandbox
	}
	return schema.Live
}

// ofSandbox reports whether the changes made with ctx are those of the sandbox.
func ofSandbox(ctx context.Context) bool {
	w, marked := ctx.Value(worldKey{}).(schema.World)
	return marked && w == schema.Sandbox
}
