"""torchvision's detectors for small images: each name has a module with inputs. Weights are random, but `spread` makes scores differ, so that the order of boxes is known."""
import re

import torch
from torch import nn

# The layers that give classes and masks, and those that move boxes, with the deviation of their results.
SPREAD = {2.0: re.compile(r"(cls_logits|cls_score|mask_fcn_logits|kps_score_lowres|classification_head\.module_list\.\d+(\.1)?)$"),
          0.5: re.compile(r"(bbox_pred|bbox_reg|bbox_ctrness|regression_head\.module_list\.\d+(\.1)?)$")}
OF_STAGES = {"topk_candidates": 40, "detections_per_img": 12}
OF_REGIONS = {"min_size": 128, "max_size": 128, "rpn_pre_nms_top_n_test": 60, "rpn_post_nms_top_n_test": 20, "box_detections_per_img": 10}
SIZE = {"min_size": 128, "max_size": 128}


def detector(name, classes=5, **options):
    import torchvision
    module = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, num_classes=classes, **options)
    return module, ([torch.rand(3, 128, 128)],)


def spread(module, inputs):
    """Norms get the mean and variance of what they read, heads results of a known deviation: random weights give all boxes about the same score."""
    def norm(part, given):
        part.running_mean.fill_(given[0].mean())
        part.running_var.fill_(given[0].var())

    def scaled(deviation):
        met = set()  # a head that reads several levels is scaled for the first

        def scale(part, given, result):
            if part in met:
                return None
            met.add(part)
            if part.bias is not None:
                result = result - part.bias.view(1, -1, *[1] * (result.dim() - 2))
                part.bias.zero_()
            factor = deviation / float(result.std())
            part.weight.mul_(factor)
            return result * factor

        return scale

    hooks = [part.register_forward_pre_hook(norm) for part in module.modules() if isinstance(part, nn.BatchNorm2d)]
    for deviation, names in SPREAD.items():
        hooks += [part.register_forward_hook(scaled(deviation)) for name, part in module.named_modules() if names.search(name) and hasattr(part, "weight")]
    with torch.no_grad():
        module(*inputs)
    for hook in hooks:
        hook.remove()


NETWORKS = {
    "tv_ssdlite": lambda: detector("ssdlite320_mobilenet_v3_large", **OF_STAGES),
    "tv_ssd": lambda: detector("ssd300_vgg16", **OF_STAGES),
    "tv_retinanet": lambda: detector("retinanet_resnet50_fpn", **OF_STAGES, **SIZE),
    "tv_fcos": lambda: detector("fcos_resnet50_fpn", **OF_STAGES, **SIZE),
    "tv_faster_rcnn": lambda: detector("fasterrcnn_mobilenet_v3_large_320_fpn", **OF_REGIONS),
    "tv_faster_rcnn_resnet": lambda: detector("fasterrcnn_resnet50_fpn", **OF_REGIONS),
    "tv_mask_rcnn": lambda: detector("maskrcnn_resnet50_fpn", **OF_REGIONS),
    "tv_keypoint_rcnn": lambda: detector("keypointrcnn_resnet50_fpn", 2, **OF_REGIONS),
}
