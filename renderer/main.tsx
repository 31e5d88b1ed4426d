import "./policy.ts";
import { mount } from "./mount.tsx";
import { createClient } from "./transport/index.ts";

const root = document.getElementById("root");
if (!root) throw new Error("index.html has no element #root");
mount(createClient(), root);
