"""The <visual> and <collision> elements of links, as triangles; meshes are untrusted files."""
